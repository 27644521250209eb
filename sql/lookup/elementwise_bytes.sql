-- Bytes per element of the dtypes between which base elementwise lookups scale latencies; no other dtype scales.
-- source: exact lookup rules for elementwise operators, aliases resolved; BOOL is unknown on purpose
select dtype, bytes
from (values ('INT8', 1), ('INT16', 2), ('DT_BF16', 2), ('FLOAT16', 2), ('FLOAT', 4), ('INT32', 4), ('INT64', 8))
    as known(dtype, bytes)
