-- Rows that take more than 1.5 times as long as their busiest core is at work.
-- example: Which kernels spend much of their time waiting and not on a core?
create or replace view core_envelope_outlier as
with sources as (
    select row_id, 'profiling' as source, if(meaning = 'profiling_mean', average_us, profiling_average_us) as duration_us,
        profiling_aicore_time_us as aicore_us, profiling_aiv_time_us as aiv_us
    from measurement join hardware_counter using (row_id) join (select file_id, meaning from average_meaning) using (file_id)
    union all
    select row_id, 'microbench', if(meaning = 'microbench_minimum', average_us, null), microbench_aicore_time_us, microbench_aiv_time_us
    from measurement join hardware_counter using (row_id) join (select file_id, meaning from average_meaning) using (file_id)
), envelopes as (
    select *, greatest(aicore_us, aiv_us) as core_us, duration_us / greatest(aicore_us, aiv_us) as ratio from sources
    where duration_us > 0 and isfinite(duration_us) and greatest(aicore_us, aiv_us) > 0
        and isfinite(greatest(aicore_us, aiv_us))
)
select v.version_key, m.kernel_type, f.file_name, e.row_id, m.line_number, m.accelerator_core, m.input_shapes, e.source,
    e.duration_us, e.aicore_us, e.aiv_us, e.core_us, e.ratio, m.latency_us = e.core_us and m.latency_us <> m.raw_latency_us as is_replaced
from envelopes as e
join measurement as m using (row_id) join source_file as f using (file_id)
join profile_version as v on v.version_id = m.version_id
where e.ratio > 1.5
order by e.ratio desc, e.row_id, e.source;
comment on view core_envelope_outlier is 'One row per measurement and source of its latency whose duration is more than 1.5 times the larger core time, the widest first [source: measurement, hardware_counter, average_meaning]';
comment on column core_envelope_outlier.version_key is 'Version [profile_version.version_key]';
comment on column core_envelope_outlier.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column core_envelope_outlier.file_name is 'CSV of the row [source_file.file_name]';
comment on column core_envelope_outlier.row_id is 'Measurement [measurement.row_id]';
comment on column core_envelope_outlier.line_number is 'Physical line where the row starts [count]';
comment on column core_envelope_outlier.accelerator_core is 'CSV column Accelerator Core [text]';
comment on column core_envelope_outlier.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column core_envelope_outlier.source is 'profiling or microbench: where duration and core times come from [identifier]';
comment on column core_envelope_outlier.duration_us is 'Profiling mean, or microbenchmark minimum [us; as in effective_latency.quantity]';
comment on column core_envelope_outlier.aicore_us is 'Time of the cube cores [us, hardware_counter]';
comment on column core_envelope_outlier.aiv_us is 'Time of the vector cores [us, hardware_counter]';
comment on column core_envelope_outlier.core_us is 'The larger of them, of the one that is known when the other is not [us]';
comment on column core_envelope_outlier.ratio is 'duration_us over core_us [ratio]';
comment on column core_envelope_outlier.is_replaced is 'Whether lookups use core_us instead, by the policy profiling_core_envelope_fallback [boolean]';
