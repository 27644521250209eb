-- Axes of each target and the measured regimes that it belongs to, one row per regime, one without when there is none.
-- reads: placed
-- param: path varchar [path name]
select p.item_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.reason, p.regime_key, r.regime_id, r.is_nd,
    r.measurement_count, r.input_formats, r.output_dtypes, r.latency_ranks
from placed as p left join regime as r
    on r.file_id = p.file_id and r.path = $path and r.input_limit = p.input_limit and r.regime_key = p.regime_key
        and outputs_agree(p.output_dtypes, r.output_dtypes)
order by p.item_id, r.regime_id
