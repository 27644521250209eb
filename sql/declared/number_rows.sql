-- The incoming rows of one kernel with their identifiers; rows of one coordinate share a signature.
-- reads: incoming_row
create or replace temp table numbered_row as
with bases as (
    select greatest(coalesce(max(row_id), 0), coalesce(max(signature_id), 0)) as base from measurement
)
select base + row_number() over (order by row_number) as row_id,
    base + dense_rank() over (order by regime_key, axis_1, axis_2, axis_3, axis_4) as signature_id, i.*
from incoming_row as i, bases
order by row_id
