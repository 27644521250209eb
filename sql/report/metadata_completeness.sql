-- What rows say about the completeness of their runtime metadata.
select version_key, kernel_type, completeness, has_column, row_count, share, without_length_count
from metadata_completeness
order by version_key, kernel_type, row_count desc, completeness
