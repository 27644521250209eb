-- Whether one size is another rounded up to a block: 16, 32 or 64, from 64 on 8 too.
-- source: exact lookup rules, padding of target dims
create or replace temp macro pads_to(padded, size) as
    padded > size and size > 0 and (padded = (size + 15) // 16 * 16 or padded = (size + 31) // 32 * 32
        or padded = (size + 63) // 64 * 64 or (size >= 64 and padded = (size + 7) // 8 * 8))
