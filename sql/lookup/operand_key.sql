-- Keys of operand lists: as they are, without a leading 1, with the dims of weights in ascending order, and padded to 64.
-- param: operands varchar [JSON list of operand lists, each a list of shapes]
-- source: the same macros as sql/ingest/row_keys.sql
select shapes::varchar as plain, bare::varchar as bare, 's' || sorted_weights(shapes)::varchar as weights,
    'p' || padded_sizes(bare)::varchar as padded, size_class(padded_sizes(bare)) as size_class
from (select shapes, bare_shapes(shapes) as bare
      from (select unnest(from_json($operands::varchar, '["BIGINT[][]"]')) as shapes))
