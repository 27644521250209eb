-- A latency cell as microseconds, or null unless it is finite and positive.
create or replace temp macro usable_latency(cell) as
    case when isfinite(try_cast(trim(cell) as double)) and try_cast(trim(cell) as double) > 0
         then try_cast(trim(cell) as double) end
