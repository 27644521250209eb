-- Points of the regimes of one kernel in one version.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: regime, coordinate, latency column
select p.* from point as p join regime as r using (regime_id)
where r.version_id = $version_id and r.kernel_type = $kernel_type
order by p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.latency_rank, p.latency_column
