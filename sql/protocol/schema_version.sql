-- Number of the newest migration of the file.
select max(id) as id
from schema_migration
