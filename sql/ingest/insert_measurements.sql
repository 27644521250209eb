-- Usable rows as measurements, with every enrichment column.
insert into measurement by name
with enrichments as (
    select staged_id,
        columns(lambda name: list_contains(getvariable('enrichment_texts'), name)),
        try_cast(number_cell(columns(lambda name: list_contains(getvariable('enrichment_integers'), name))) as bigint),
        columns(lambda name: list_contains(getvariable('enrichment_doubles'), name))
    from staged_row where file_id in (select file_id from loading_file where has_enrichment)
)
select row_id, file_id, version_id, kernel_type, row_number, line_number, op_state, accelerator_core, input_shapes,
    dtype_slots as input_dtypes, format_slots as input_formats, output_shapes, output_dtypes, output_formats,
    operand_shapes, operand_dtypes, operand_formats, operand_gaps, signature_id, latency_us, latency_column, latency_rank,
    raw_latency_us, extra_json, columns(lambda name: list_contains(getvariable('duration_columns'), name)),
    e.* exclude (staged_id)
from operand_row join stored_row using (staged_id) left join enrichments as e using (staged_id)
order by row_id
