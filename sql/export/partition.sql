-- Every kernel of every version.
-- order: version, kernel
select distinct version_id, kernel_type from source_file order by version_id, kernel_type
