-- Keys of operand lists under rules that few kernels have: flattened, merged and single-axis transposed shapes.
-- param: operands varchar [JSON list of operand lists, each a list of shapes]
select flattened(bare)::varchar as flattened, merged(bare)::varchar as merged,
    list_transform(shapes, lambda shape: if(len(shape) = 2 and shape[1] = 1, [shape[2], shape[1]], shape))::varchar as swapped
from (select shapes, bare_shapes(shapes) as bare
      from (select unnest(from_json($operands::varchar, '["BIGINT[][]"]')) as shapes))
