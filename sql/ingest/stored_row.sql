-- Rows that will be stored: their identifier, and the identity that rows of equal content share, ordered by content.
create or replace temp table stored_row as
with usable_rows as (
    select * from operand_row
    where latency_us is not null and staged_id not in (select staged_id from cell_problem where is_fatal)
), enriched_rows as (
    select staged_id, row(*columns(lambda name: list_contains(getvariable('identity_columns'), name)))::varchar
        as enrichment
    from staged_row where file_id in (select file_id from loading_file where has_enrichment)
), contents as (
    select staged_id, file_id, first_row, concat_ws(chr(31), if(is_nd, '0', '1'), input_shapes::varchar,
        operand_dtypes::varchar, coalesce(operand_formats::varchar, '~'), coalesce(output_shapes::varchar, '~'),
        coalesce(output_dtypes::varchar, '~'), coalesce(output_formats::varchar, '~'), coalesce(enrichment, '')) as content
    from usable_rows left join enriched_rows using (staged_id)
), bases as (
    select greatest(coalesce(max(row_id), 0), coalesce(max(signature_id), 0)) - (select min(first_row) from loading_file)
        as base
    from measurement
)
select staged_id, base + staged_id + 1 as row_id,
    base + first_row + dense_rank() over (partition by file_id order by content) as signature_id
from contents, bases
