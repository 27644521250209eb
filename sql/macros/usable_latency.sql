-- A latency that can be used: positive microseconds, or null.
create or replace temp macro usable_latency(latency_us) as
    case when latency_us > 0 then latency_us end
