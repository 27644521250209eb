-- Files that a declaration has stored, each with what it was read from.
-- param: declaration varchar [name of the declaration]
select f.file_id, f.version_id, f.file_path, f.sha256, f.policy_sha256
from source_file as f join declared_file as d using (file_id)
where d.declaration = $declaration
order by f.file_id
