-- The latency that lookups use for each measurement, the column it came from, why, and what the other columns say.
-- example: For which rows did the core envelope replace the profiling mean?
create or replace view effective_latency as
with preferences as (
    select distinct version_id, subject as kernel_type from interpolation_policy
    where scope = 'latency' and json_extract_string(policy_json, '$.prefer_profiling_rows') = 'true'
)
select v.version_key, m.kernel_type, f.file_name, m.row_id, m.row_number, m.line_number, m.input_shapes, m.latency_us,
    m.latency_column, m.latency_rank,
    case when m.latency_us <> m.raw_latency_us then 'core_envelope'
         when p.kernel_type is not null and m.latency_rank = 0 then 'preferred'
         else 'first_usable_column' end as reason,
    case when m.latency_us <> m.raw_latency_us then 'core_maximum'
         when m.message_bytes is not null then 'collective'
         when f.layout = 'declared' then 'declared'
         when m.latency_column = 'Profiling Average Duration(us)' then 'profiling_mean'
         when m.latency_column = 'Duration(us)' then 'duration'
         else a.meaning end as quantity,
    m.raw_latency_us, greatest(h.profiling_aicore_time_us, h.profiling_aiv_time_us) as core_us, m.average_us,
    m.profiling_average_us, m.profiling_median_us, m.profiling_std_us, m.median_us, m.std_us, m.duration_us
from measurement as m
join source_file as f using (file_id)
join average_meaning as a using (file_id)
join profile_version as v on v.version_id = m.version_id
left join preferences as p on p.version_id = m.version_id and p.kernel_type = m.kernel_type
left join (select row_id, profiling_aicore_time_us, profiling_aiv_time_us from hardware_counter) as h using (row_id)
order by m.row_id;
comment on view effective_latency is 'One row per measurement [source: measurement, interpolation_policy, hardware_counter, average_meaning]';
comment on column effective_latency.version_key is 'Version [profile_version.version_key]';
comment on column effective_latency.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column effective_latency.file_name is 'CSV of the row [source_file.file_name]';
comment on column effective_latency.row_id is 'Measurement [measurement.row_id]';
comment on column effective_latency.row_number is 'Data row, 1 = first after the header [count]';
comment on column effective_latency.line_number is 'Physical line where the row starts [count]';
comment on column effective_latency.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column effective_latency.latency_us is 'Latency that lookups use [us]';
comment on column effective_latency.latency_column is 'CSV column that it was read from, also when the core envelope replaced it [text]';
comment on column effective_latency.latency_rank is 'Preference among equal rows, 0 first [rank]';
comment on column effective_latency.reason is 'first_usable_column (reading order), preferred (latency policy prefers profiling rows), or core_envelope (busiest core instead) [identifier]';
comment on column effective_latency.quantity is 'What the number is: profiling_mean, microbench_minimum, mean_or_minimum (the file does not tell), core_maximum, duration, collective, or declared (a table of another layout) [identifier from column and average_meaning]';
comment on column effective_latency.raw_latency_us is 'Value of latency_column before core-envelope replacement [us]';
comment on column effective_latency.core_us is 'Larger of profiling aicore and aiv time, null when neither is known [us]';
comment on column effective_latency.average_us is 'CSV column Average Duration(us) [us]';
comment on column effective_latency.profiling_average_us is 'CSV column Profiling Average Duration(us) [us]';
comment on column effective_latency.profiling_median_us is 'CSV column Profiling Median Duration(us) [us]';
comment on column effective_latency.profiling_std_us is 'CSV column Profiling Std Duration(us) [us]';
comment on column effective_latency.median_us is 'CSV column Median Duration(us) [us]';
comment on column effective_latency.std_us is 'CSV column Std Duration(us) [us]';
comment on column effective_latency.duration_us is 'CSV column Duration(us) [us]';
