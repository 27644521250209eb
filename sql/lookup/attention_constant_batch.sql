-- Regimes of attention targets with the batch at which they are asked: a target that does not tell it adopts the only one.
-- reads: shared_regimes
with batches as (
    select regime_id, min(axis_2) as batch, max(axis_2) > min(axis_2) as is_open
    from point where regime_id in (select regime_id from shared_regimes where has_batch
        and not is_batch_asked) group by regime_id
)
select s.* replace (if(is_batch_asked, axis_2, coalesce(batch, axis_2)) as axis_2,
    if(is_open and not is_batch_asked, 'batch_axis_unconstrained', reason) as reason)
from shared_regimes as s left join batches using (regime_id)
