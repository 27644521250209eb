-- Regimes of one kernel in one version.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: regime_id
select * exclude (version_id, kernel_type) from regime
where version_id = $version_id and kernel_type = $kernel_type
order by regime_id
