-- Staged rows with cells split into slots, dtypes and latencies read, and the operands: the slots that hold a tensor.
-- Operands are aligned with dtypes and formats and restored to ND.
create or replace temp table operand_row as
with dtype_cells as (
    select cell, list_transform(cell_slots(cell), lambda slot: dtype_name(slot)) as dtypes
    from (select input_dtypes as cell from staged_row union select output_dtypes from staged_row)
), format_cells as (
    select cell, cell_slots(cell) as formats
    from (select input_formats as cell from staged_row union select output_formats from staged_row)
), split_rows as (
    select staged_id, file_id, coalesce(row_number, staged_id - first_row + 1) as row_number,
        coalesce(line_number, staged_id - first_row + 2) as line_number, first_row, has_enrichment, version_id,
        kernel_type, is_communication, core_ratio, prefer_profiling,
        coalesce(nullif(cell_slots(input_shapes), ['']), []) as shape_slots,
        coalesce(i.dtypes, []) as dtype_slots,
        fi.formats as format_slots,
        coalesce(cell_slots(output_shapes), []) as output_shape_slots,
        o.dtypes as output_dtypes,
        fo.formats as output_formats,
        op_state, nullif(trim(accelerator_core), '') as accelerator_core, extra_json,
        columns(lambda name: list_contains(getvariable('duration_columns'), name)),
        usable_latency(average_us) as average_latency_us,
        usable_latency(profiling_average_us) as profiling_latency_us,
        usable_latency(duration_us) as duration_latency_us,
        usable_latency(profiling_aicore_time_us) as aicore_us,
        usable_latency(profiling_aiv_time_us) as aiv_us
    from staged_row as s join loading_file using (file_id)
    left join dtype_cells as i on i.cell = s.input_dtypes left join dtype_cells as o on o.cell = s.output_dtypes
    left join format_cells as fi on fi.cell = s.input_formats left join format_cells as fo on fo.cell = s.output_formats
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
), slot_rows as (
    select * exclude (output_shape_slots),
        case when outputs_are_well_formed and len(output_shape_slots) > 0
             then list_transform(output_shape_slots, lambda slot: slot_shape(slot)) end as output_shapes,
        list_filter(range(1, len(input_shapes) + 1), lambda slot: len(input_shapes[slot]) > 0) as operand_slots
    from shaped_rows
), aligned_rows as (
    select *,
        case when len(dtype_slots) >= len(shape_slots) or len(dtype_slots) <> len(operand_slots)
             then list_transform(operand_slots, lambda slot: coalesce(dtype_slots[slot], ''))
             else dtype_slots end as operand_dtypes,
        case when format_slots is null then null
             when len(format_slots) >= len(shape_slots) or len(format_slots) <> len(operand_slots)
             then list_transform(operand_slots, lambda slot: coalesce(nullif(format_slots[slot], ''), 'ND'))
             else format_slots end as operand_formats,
        list_transform(operand_slots, lambda slot: input_shapes[slot]) as stored_shapes,
        list_transform(range(1, len(operand_slots) + 1),
            lambda place: operand_slots[place] - coalesce(operand_slots[place - 1], 0) - 1) as operand_gaps
    from slot_rows
), core_rows as (
    select *,
        greatest(aicore_us, aiv_us) as core_us,
        latency_column = 'Profiling Average Duration(us)' and trim(accelerator_core) = 'MIX_AIC'
            and aicore_us is not null and aiv_us is not null
            and raw_latency_us / greatest(aicore_us, aiv_us) > core_ratio as is_enveloped
    from aligned_rows
)
select * exclude (core_us, is_enveloped),
    list_transform(list_zip(stored_shapes, operand_formats), lambda pair: nd_shape(pair[1], pair[2])) as operand_shapes,
    case when is_enveloped then core_us else raw_latency_us end as latency_us,
    case when prefer_profiling
             then if(latency_column = 'Profiling Average Duration(us)' and not coalesce(is_enveloped, false), 0, 1)
         when is_enveloped then 3
         when latency_column = 'Average Duration(us)' then 0
         when latency_column = 'Profiling Average Duration(us)' then 1 else 2 end as latency_rank,
    coalesce(list_bool_and(list_transform(operand_formats, lambda f: f <> 'FRACTAL_NZ')), true) as is_nd
from core_rows
