-- Hardware counters of the measurements of one kernel in one version.
-- param: version_id integer [profile_version.version_id]
-- param: kernel_type varchar [source_file.kernel_type]
-- order: row_id
select c.* from hardware_counter as c join (select row_id, version_id, kernel_type from measurement) as m using (row_id)
where m.version_id = $version_id and m.kernel_type = $kernel_type
order by c.row_id
