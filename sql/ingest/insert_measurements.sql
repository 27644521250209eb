-- Usable rows as measurements, with the identity of equal rows and every enrichment column.
insert into measurement by name
with usable_rows as (
    select * from operand_row as o
    where latency_us is not null
        and not exists (select 1 from cell_problem as p
            where p.is_fatal and p.file_id = o.file_id and p.row_number = o.row_number)
), enrichments as (
    select file_id, row_number, op_state, extra_json, nullif(trim(accelerator_core), '') as accelerator_core,
        columns(lambda name: list_contains(getvariable('text_columns'), name)),
        number_cell(columns(lambda name: list_contains(getvariable('measured_number_columns'), name)))
    from staged_row
), identities as (
    select file_id, row_number, row(columns(lambda name: list_contains(getvariable('enrichment_columns'), name)))::varchar
        as enrichment
    from staged_row
), signed_rows as (
    select u.*, dense_rank() over (order by u.file_id, not u.is_nd, u.input_shapes::varchar, u.operand_dtypes::varchar,
        u.operand_formats::varchar, u.output_shapes::varchar, u.output_dtypes::varchar, u.output_formats::varchar,
        i.enrichment) as signature
    from usable_rows as u join identities as i using (file_id, row_number)
)
select u.* exclude (shape_slots, dtype_slots, format_slots, operand_slots, stored_shapes, core_ratio, prefer_profiling,
        is_communication, is_nd, shapes_are_well_formed, outputs_are_well_formed, aicore_us, aiv_us, signature,
        average_latency_us, profiling_latency_us, duration_latency_us, accelerator_core),
    u.dtype_slots as input_dtypes, u.format_slots as input_formats,
    (select coalesce(max(row_id), 0) from measurement) + row_number() over (order by file_id, row_number) as row_id,
    (select coalesce(max(signature_id), 0) from measurement) + u.signature as signature_id,
    e.* exclude (file_id, row_number)
from signed_rows as u join enrichments as e using (file_id, row_number)
order by file_id, row_number
