-- Rows whose microbenchmark and profiling latencies disagree: ratio outside 0.8 .. 1.2.
-- example: Which kernels have hot gaps, at least 1.5 times and 5 us apart?
create or replace view gap_hotspot as
with pairs as (
    select m.*, m.average_us / m.profiling_average_us as ratio, m.average_us - m.profiling_average_us as difference_us
    from measurement as m join (select file_id, meaning from average_meaning) as a using (file_id)
    where a.meaning = 'microbench_minimum' and m.average_us > 0 and m.profiling_average_us > 0 and isfinite(m.average_us) and isfinite(m.profiling_average_us)
)
select v.version_key, p.kernel_type, f.file_name, p.row_id, p.line_number, p.accelerator_core, p.input_shapes,
    p.average_us as microbench_us, p.profiling_average_us as profiling_us, p.ratio, p.difference_us,
    greatest(p.ratio, 1 / p.ratio) >= 1.5 and abs(p.difference_us) >= 5 as is_hot
from pairs as p join source_file as f using (file_id) join profile_version as v on v.version_id = p.version_id
where p.ratio not between 0.8 and 1.2
order by is_hot desc, greatest(p.ratio, 1 / p.ratio) desc, p.row_id;
comment on view gap_hotspot is 'One row per measurement that has both latencies and a ratio outside 0.8 .. 1.2, hot ones first [source: measurement, average_meaning]';
comment on column gap_hotspot.version_key is 'Version [profile_version.version_key]';
comment on column gap_hotspot.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column gap_hotspot.file_name is 'CSV of the row [source_file.file_name]';
comment on column gap_hotspot.row_id is 'Measurement [measurement.row_id]';
comment on column gap_hotspot.line_number is 'Physical line where the row starts [count]';
comment on column gap_hotspot.accelerator_core is 'CSV column Accelerator Core [text]';
comment on column gap_hotspot.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column gap_hotspot.microbench_us is 'Microbenchmark minimum, CSV column Average Duration(us) [us]';
comment on column gap_hotspot.profiling_us is 'Profiling mean, CSV column Profiling Average Duration(us) [us]';
comment on column gap_hotspot.ratio is 'Microbenchmark over profiling [ratio]';
comment on column gap_hotspot.difference_us is 'Microbenchmark minus profiling [us]';
comment on column gap_hotspot.is_hot is 'At least 1.5 times apart either way and at least 5 us apart [boolean]';
