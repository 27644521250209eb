-- The measured regimes that one target belongs to.
-- param: path varchar [path name]
-- param: file_id integer [file of the kernel]
-- param: input_limit integer [first operands that count, 0 for all]
-- param: regime_key varchar [fields that must be equal]
-- param: output_dtypes varchar [output dtypes of the target]
select regime_key, regime_id, is_nd, measurement_count, input_formats, output_dtypes, latency_ranks
from regime
where file_id = $file_id and path = $path and input_limit = $input_limit and regime_key = $regime_key
    and outputs_agree($output_dtypes, output_dtypes)
order by regime_id
