-- The measured regimes that one target belongs to, one row without a regime when there is none.
-- param: path varchar [path name]
-- param: file_id integer [file of the kernel]
-- param: input_limit integer [first operands that count, 0 for all]
-- param: regime_key varchar [fields that must be equal]
-- param: output_dtypes varchar [output dtypes of the target]
select $regime_key as regime_key, r.regime_id, r.is_nd, r.measurement_count, r.input_formats, r.output_dtypes, r.latency_ranks
from (select 1) left join regime as r
    on r.file_id = $file_id and r.path = $path and r.input_limit = $input_limit and r.regime_key = $regime_key
        and outputs_agree($output_dtypes, r.output_dtypes)
order by r.regime_id
