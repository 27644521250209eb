-- The 20 worst answers of every kernel and region of every recorded run.
-- example: Which coordinates should be measured again first?
create or replace view fidelity_worst as
select row_number() over worst_first as place, run_id, version_key, kernel_type, region, probe_id, group_id, x0, x1, x2, x3, x0_name,
    x1_name, x2_name, x3_name, truth_us, pred_us, ratio, cell_ratio, noise_floor, method, failure_hint
from fidelity_probe
where answered
window worst_first as (partition by run_id, kernel_type, region order by abs(log_ratio) desc, probe_id)
qualify place <= 20
order by run_id, kernel_type, region, place;
comment on view fidelity_worst is 'One row per answer, the largest absolute logarithm of the ratio first [source: fidelity_probe]';
comment on column fidelity_worst.place is '1 = worst of its kernel and region [rank]';
comment on column fidelity_worst.run_id is 'Recorded run [fidelity_run.run_id]';
comment on column fidelity_worst.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_worst.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_worst.region is 'What the error is told under [text]';
comment on column fidelity_worst.probe_id is 'Number of the probe in its run, 0 first [integer]';
comment on column fidelity_worst.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column fidelity_worst.x0 is 'First coordinate [axis unit]';
comment on column fidelity_worst.x1 is 'Second coordinate, null without one [axis unit]';
comment on column fidelity_worst.x2 is 'Third coordinate, null without one [axis unit]';
comment on column fidelity_worst.x3 is 'Fourth coordinate, null without one [axis unit]';
comment on column fidelity_worst.x0_name is 'Name of the first axis [text]';
comment on column fidelity_worst.x1_name is 'Name of the second axis [text]';
comment on column fidelity_worst.x2_name is 'Name of the third axis [text]';
comment on column fidelity_worst.x3_name is 'Name of the fourth axis [text]';
comment on column fidelity_worst.truth_us is 'Measured latency, null when nobody knows [us]';
comment on column fidelity_worst.pred_us is 'Answer, null for a miss [us]';
comment on column fidelity_worst.ratio is 'pred_us over truth_us [ratio]';
comment on column fidelity_worst.cell_ratio is 'Upper over lower end of the cell along its widest used axis [ratio]';
comment on column fidelity_worst.noise_floor is 'Factor up to which repeated measurements differ anyway [ratio]';
comment on column fidelity_worst.method is 'How the answer was interpolated [text]';
comment on column fidelity_worst.failure_hint is 'What the failure looks like, null within the bar [text]';
