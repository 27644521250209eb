-- Staged rows with their cells split into slots, dtype spellings resolved and latencies read.
create or replace temp table slot_row as
with dtype_cells as (
    select cell, list_transform(cell_slots(cell), lambda slot: dtype_name(slot)) as dtypes
    from (select input_dtypes as cell from staged_row union select output_dtypes from staged_row)
), split_rows as (
    select s.rowid as staged_id, file_id, coalesce(row_number, s.rowid - first_row + 1) as row_number,
        coalesce(line_number, s.rowid - first_row + 2) as line_number, first_row, has_enrichment, version_id,
        kernel_type, is_communication, core_ratio, prefer_profiling,
        coalesce(nullif(cell_slots(input_shapes), ['']), []) as shape_slots,
        coalesce(i.dtypes, []) as dtype_slots,
        cell_slots(input_formats) as format_slots,
        coalesce(cell_slots(output_shapes), []) as output_shape_slots,
        o.dtypes as output_dtypes,
        cell_slots(output_formats) as output_formats,
        op_state, nullif(trim(accelerator_core), '') as accelerator_core, extra_json,
        finite_number(columns(lambda name: list_contains(getvariable('duration_columns'), name))),
        usable_latency(average_us) as average_latency_us,
        usable_latency(profiling_average_us) as profiling_latency_us,
        usable_latency(duration_us) as duration_latency_us,
        usable_latency(profiling_aicore_time_us) as aicore_us,
        usable_latency(profiling_aiv_time_us) as aiv_us
    from staged_row as s join loading_file using (file_id)
    left join dtype_cells as i on i.cell = s.input_dtypes left join dtype_cells as o on o.cell = s.output_dtypes
), shaped_rows as (
    select *,
        list_bool_and(list_transform(shape_slots, lambda slot: is_shape_slot(slot))) as shapes_are_well_formed,
        coalesce(list_bool_and(list_transform(output_shape_slots, lambda slot: is_shape_slot(slot))), true)
            as outputs_are_well_formed,
        list_transform(shape_slots, lambda slot: slot_shape(slot)) as input_shapes,
        case when average_latency_us is not null then 'Average Duration(us)'
             when profiling_latency_us is not null then 'Profiling Average Duration(us)'
             when duration_latency_us is not null then 'Duration(us)' end as latency_column,
        coalesce(average_latency_us, profiling_latency_us, duration_latency_us) as raw_latency_us
    from split_rows
)
select * exclude (output_shape_slots),
    case when outputs_are_well_formed and len(output_shape_slots) > 0
         then list_transform(output_shape_slots, lambda slot: slot_shape(slot)) end as output_shapes,
    list_filter(range(1, len(input_shapes) + 1), lambda slot: len(input_shapes[slot]) > 0) as operand_slots
from shaped_rows
