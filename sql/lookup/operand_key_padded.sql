-- Keys of operand lists that match rows padded to them: sizes rounded up to 64, as is, flattened and merged.
-- param: operands varchar [JSON list of operand lists, each a list of shapes]
select 'p' || padded_sizes(bare)::varchar as padded, 'p' || padded_sizes(flattened(bare))::varchar as flattened,
    'p' || padded_sizes(merged(bare))::varchar as merged
from (select shapes, bare_shapes(shapes) as bare
      from (select unnest(from_json($operands::varchar, '["BIGINT[][]"]')) as shapes))
