-- Kernels that a mapping names and no lookup can read; those whose operator has nothing else first.
select version_key, operator, dispatch, kernel_type, roles, problem, usable_kernel_count
from mapping_without_csv
order by usable_kernel_count, version_key, operator, kernel_type
