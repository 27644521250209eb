-- Takes the rows of one run out of recorded_region.
-- param: run_id varchar [recorded_run.run_id]
delete from recorded_region where run_id = $run_id
