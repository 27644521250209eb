-- How much the repetitions behind a profiling mean vary: standard deviation over mean of each row.
-- example: Which kernels have rows whose repetitions vary by more than 10 %?
create or replace view latency_variation as
with means as (
    select m.row_id, m.file_id, m.version_id, m.kernel_type, m.line_number, m.input_shapes,
        if(a.meaning = 'profiling_mean', m.average_us, m.profiling_average_us) as mean_us,
        if(a.meaning = 'profiling_mean', m.median_us, m.profiling_median_us) as median_us,
        if(a.meaning = 'profiling_mean', m.std_us, m.profiling_std_us) as std_us, a.file_name
    from measurement as m join average_meaning as a using (file_id)
)
select v.version_key, s.kernel_type, s.file_name, s.row_id, s.line_number, s.input_shapes, s.mean_us, s.median_us,
    s.std_us, s.std_us / s.mean_us as variation, s.std_us / s.mean_us > 0.1 as is_unsteady
from means as s join profile_version as v using (version_id)
where s.mean_us > 0 and isfinite(s.mean_us) and s.std_us >= 0 and isfinite(s.std_us)
order by variation desc, s.row_id;
comment on view latency_variation is 'One row per measurement with a profiling mean and its standard deviation, the most varying first [source: measurement, average_meaning]';
comment on column latency_variation.version_key is 'Version [profile_version.version_key]';
comment on column latency_variation.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column latency_variation.file_name is 'CSV of the row [source_file.file_name]';
comment on column latency_variation.row_id is 'Measurement [measurement.row_id]';
comment on column latency_variation.line_number is 'Physical line where the row starts [count]';
comment on column latency_variation.input_shapes is 'Input shapes by slot [elements, measurement.input_shapes]';
comment on column latency_variation.mean_us is 'Profiling mean: CSV column Profiling Average Duration(us), or Average Duration(us) of legacy36 [us]';
comment on column latency_variation.median_us is 'Profiling median [us; CSV column Profiling Median Duration(us), or Median Duration(us) of legacy36]';
comment on column latency_variation.std_us is 'Standard deviation [us; CSV column Profiling Std Duration(us), or Std Duration(us) of legacy36]';
comment on column latency_variation.variation is 'std_us over mean_us, the coefficient of variation [ratio]';
comment on column latency_variation.is_unsteady is 'Whether it is above 0.1 [boolean]';
