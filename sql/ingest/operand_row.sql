-- Slot rows with their operands: the slots that hold a tensor, aligned with dtypes and formats, restored to ND.
create or replace temp table operand_row as
with aligned_rows as (
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
    from slot_row
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
