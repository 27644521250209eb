-- Takes the rows of one run out of recorded_run.
-- param: run_id varchar [recorded_run.run_id]
delete from recorded_run where run_id = $run_id
