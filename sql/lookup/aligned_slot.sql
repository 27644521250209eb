-- The best way in which each operand matches: unpadded before padded, then in order of preference.
-- reads: alignments
with dims as (
    select id, position, distance, latency_rank, signature_id, row_id, operand_count, slot,
        ratio, preference, label, padded, may_pad,
        unnest(asked) as wanted, unnest(measured) as had
    from alignments where len(asked) = len(measured)
), judged_dims as (
    select *, wanted <> had as is_padded,
        wanted = had or (may_pad and pads_to(wanted, had)) as fits
    from dims
), judged as (
    select id, position, distance, latency_rank, signature_id, row_id, operand_count, slot,
        ratio, preference, if(bool_or(is_padded), padded, label) as label, bool_or(is_padded) as is_padded
    from judged_dims
    group by id, position, distance, latency_rank, signature_id, row_id, operand_count, slot, ratio, preference,
        label, padded
    having bool_and(fits)
)
select * from judged
qualify row_number() over (partition by id, position, distance, row_id, slot order by is_padded, preference) = 1
