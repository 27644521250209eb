-- Takes leaving measurements off the counts of their regimes.
update regime set measurement_count = measurement_count - leaving.row_count
from (select regime_id, count(*) as row_count from held_place semi join leaving_row using (row_id) group by regime_id) as leaving
where regime.regime_id = leaving.regime_id
