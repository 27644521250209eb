-- The alpha-beta line of each collective by group size and topology tier, and how far its measurements lie from it.
-- example: Which collectives have measurements more than 20 % away from their fitted line?
create or replace view communication_fit as
with collective_rows as (
    select file_id, num_devices, topology_tier, latency_column, message_bytes, latency_us
    from measurement where message_bytes is not null
), sums as (
    select file_id, num_devices, topology_tier, latency_column, count(*) as row_count,
        count(distinct message_bytes) as size_count, min(message_bytes) as min_bytes, max(message_bytes) as max_bytes,
        regr_intercept(latency_us, message_bytes order by message_bytes, latency_us) as intercept,
        regr_slope(latency_us, message_bytes order by message_bytes, latency_us) as slope,
        regr_r2(latency_us, message_bytes order by message_bytes, latency_us) as r2
    from collective_rows group by file_id, num_devices, topology_tier, latency_column
), fits as (
    select file_id, num_devices, topology_tier, latency_column, row_count, size_count, min_bytes, max_bytes,
        if(size_count > 1, intercept, null) as alpha_us, if(size_count > 1, slope, null) as beta_us_per_byte,
        if(size_count > 1, r2, null) as r2
    from sums
), distances as (
    select f.file_id, f.num_devices, f.topology_tier, f.latency_column,
        max(abs(f.alpha_us + f.beta_us_per_byte * c.message_bytes - c.latency_us) / c.latency_us) as largest_relative_residual
    from fits as f join collective_rows as c on c.file_id = f.file_id and c.num_devices = f.num_devices
        and c.topology_tier is not distinct from f.topology_tier and c.latency_column = f.latency_column
    group by f.file_id, f.num_devices, f.topology_tier, f.latency_column
)
select v.version_key, s.kernel_type, f.num_devices, f.topology_tier, f.latency_column, f.alpha_us, f.beta_us_per_byte,
    if(f.beta_us_per_byte > 0, 1 / (1000 * f.beta_us_per_byte), null) as implied_bandwidth_gbps, f.r2, f.row_count, f.size_count,
    f.min_bytes, f.max_bytes, d.largest_relative_residual
from fits as f
join distances as d on d.file_id = f.file_id and d.num_devices = f.num_devices
    and d.topology_tier is not distinct from f.topology_tier and d.latency_column = f.latency_column
join source_file as s on s.file_id = f.file_id
join profile_version as v on v.version_id = s.version_id
order by v.version_key, s.kernel_type, f.num_devices, f.topology_tier, f.latency_column;
comment on view communication_fit is 'One row per collective, group size, topology tier and latency column: latency = alpha + beta * bytes by least squares over all rows, repeated ones weigh more; lookups clamp it to the two nearest measured sizes [source: measurement]';
comment on column communication_fit.version_key is 'Version or shared folder of the CSV [profile_version.version_key]';
comment on column communication_fit.kernel_type is 'Collective, the stem of the CSV [source_file.kernel_type]';
comment on column communication_fit.num_devices is 'Devices in the group [count, measurement.num_devices]';
comment on column communication_fit.topology_tier is 'Topology tier, 0 = outermost, null when not recorded [tier, measurement.topology_tier]';
comment on column communication_fit.latency_column is 'CSV column of the latencies; columns are never mixed in one line [text, measurement.latency_column]';
comment on column communication_fit.alpha_us is 'Start-up latency, the line at 0 bytes; null with fewer than two message sizes [us]';
comment on column communication_fit.beta_us_per_byte is 'Slope of the line; null with fewer than two message sizes [us/byte]';
comment on column communication_fit.implied_bandwidth_gbps is 'Message bytes per time on the slope, 1 / beta; null unless beta is positive [GB/s]';
comment on column communication_fit.r2 is 'Share of the variance of the latencies that the line explains [ratio]';
comment on column communication_fit.row_count is 'Measurements in the fit [count]';
comment on column communication_fit.size_count is 'Distinct message sizes among them [count]';
comment on column communication_fit.min_bytes is 'Smallest measured message; lookups never go below [bytes]';
comment on column communication_fit.max_bytes is 'Largest measured message; lookups never go above [bytes]';
comment on column communication_fit.largest_relative_residual is 'Largest distance of a measurement from the line, over its latency [ratio]';
