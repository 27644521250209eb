-- Figures of recorded runs by kernel and regime.
-- example: Which regimes of a kernel are answered worst?
create or replace view fidelity_group as
select r.run_id, n.version_key, split_part(n.version_key, '/', 1) as device, r.kernel_type, r.group_id, r.regime_json, r.n_probe, r.n_truth, r.n_answered, r.answer_rate, r.med,
    r.geomean, r.p10, r.p90, r.n_within, r.within_rate, r.within_of_truth, r.worst, r.worst_probe_id, r.mape, r.n_optimistic,
    r.n_within_noise, r.verdict, r.failure_class
from recorded_group as r join recorded_run as n using (run_id)
order by r.run_id, r.within_rate nulls first, r.kernel_type, r.group_id;
comment on view fidelity_group is 'One row per run, kernel and regime, worst first [source: recorded_group]';
comment on column fidelity_group.run_id is 'Recorded run [fidelity_run.run_id]';
comment on column fidelity_group.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_group.device is 'First part of the version key [text]';
comment on column fidelity_group.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_group.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column fidelity_group.regime_json is 'Discrete fields of the regime [canonical JSON]';
comment on column fidelity_group.n_probe is 'Probes [count]';
comment on column fidelity_group.n_truth is 'Probes whose truth is known [count]';
comment on column fidelity_group.n_answered is 'Of those, answered ones [count]';
comment on column fidelity_group.answer_rate is 'n_answered over n_truth [fraction]';
comment on column fidelity_group.med is 'Median of answer over truth [ratio]';
comment on column fidelity_group.geomean is 'Geometric mean of the positive ratios [ratio]';
comment on column fidelity_group.p10 is '10th percentile of the ratios [ratio]';
comment on column fidelity_group.p90 is '90th percentile of the ratios [ratio]';
comment on column fidelity_group.n_within is 'Answered probes within the bar [count]';
comment on column fidelity_group.within_rate is 'n_within over n_answered [fraction]';
comment on column fidelity_group.within_of_truth is 'n_within over n_truth [fraction]';
comment on column fidelity_group.worst is 'Ratio furthest from 1 by its logarithm [ratio]';
comment on column fidelity_group.worst_probe_id is 'The probe with that ratio [fidelity_probe.probe_id]';
comment on column fidelity_group.mape is 'Mean of the absolute relative errors [fraction]';
comment on column fidelity_group.n_optimistic is 'Answered probes with a ratio below 1 [count]';
comment on column fidelity_group.n_within_noise is 'Answered probes within the noise floor [count]';
comment on column fidelity_group.verdict is 'pass, fail, insufficient or not_evaluable [text]';
comment on column fidelity_group.failure_class is 'Why the verdict is fail, null otherwise [text]';
