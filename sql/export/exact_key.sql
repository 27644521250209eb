-- Keys of the measurements of one kernel in one version.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: file, key, group
select e.* from exact_key as e join source_file as f using (file_id)
where f.version_id = $version_id and f.kernel_type = $kernel_type
order by e.file_id, e.match_key, e.row_id, e.latency_rank, e.is_bare
