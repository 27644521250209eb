-- Keys of operand lists under rules that few kernels have: flattened, merged and single-axis transposed shapes.
-- param: operands varchar [JSON list of operand lists, each a list of shapes]
select flat::varchar as flattened, merge::varchar as merged, 'p' || padded_sizes(flat)::varchar as padded_flattened,
    'p' || padded_sizes(merge)::varchar as padded_merged,
    list_transform(shapes, lambda shape: if(len(shape) = 2 and shape[1] = 1, [shape[2], shape[1]], shape))::varchar as swapped
from (select shapes, flattened(bare_shapes(shapes)) as flat, merged(bare_shapes(shapes)) as merge
      from (select unnest(from_json($operands::varchar, '["BIGINT[][]"]')) as shapes))
