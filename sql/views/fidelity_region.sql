-- Figures of recorded runs by kernel and region, with verdict and failure class.
-- example: Which regions of which kernels are outside the bar, and why?
create or replace view fidelity_region as
select r.run_id, n.version_key, split_part(n.version_key, '/', 1) as device, r.kernel_type, r.region, r.n_probe, r.n_truth, r.n_answered, r.answer_rate, r.med,
    r.geomean, r.p10, r.p90, r.n_within, r.within_rate, r.within_of_truth, r.worst, r.worst_probe_id, r.mape, r.n_optimistic,
    r.n_within_noise, r.verdict, r.failure_class
from recorded_region as r join recorded_run as n using (run_id)
order by r.run_id, r.kernel_type <> 'ALL', r.kernel_type, r.region <> 'ALL', r.region;
comment on view fidelity_region is 'One row per run, kernel and region; ALL stands for all kernels or all regions. Region unanswered repeats the misses of the other regions [source: recorded_region]';
comment on column fidelity_region.run_id is 'Recorded run [fidelity_run.run_id]';
comment on column fidelity_region.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_region.device is 'First part of the version key [text]';
comment on column fidelity_region.kernel_type is 'Kernel, ALL for all of the run [text]';
comment on column fidelity_region.region is 'Region, ALL for all of the kernel [text]';
comment on column fidelity_region.n_probe is 'Probes [count]';
comment on column fidelity_region.n_truth is 'Probes whose truth is known [count]';
comment on column fidelity_region.n_answered is 'Of those, answered ones [count]';
comment on column fidelity_region.answer_rate is 'n_answered over n_truth [fraction]';
comment on column fidelity_region.med is 'Median of answer over truth [ratio]';
comment on column fidelity_region.geomean is 'Geometric mean of the positive ratios [ratio]';
comment on column fidelity_region.p10 is '10th percentile of the ratios [ratio]';
comment on column fidelity_region.p90 is '90th percentile of the ratios [ratio]';
comment on column fidelity_region.n_within is 'Answered probes within the bar [count]';
comment on column fidelity_region.within_rate is 'n_within over n_answered [fraction]';
comment on column fidelity_region.within_of_truth is 'n_within over n_truth [fraction]';
comment on column fidelity_region.worst is 'Ratio furthest from 1 by its logarithm [ratio]';
comment on column fidelity_region.worst_probe_id is 'The probe with that ratio [fidelity_probe.probe_id]';
comment on column fidelity_region.mape is 'Mean of the absolute relative errors [fraction]';
comment on column fidelity_region.n_optimistic is 'Answered probes with a ratio below 1 [count]';
comment on column fidelity_region.n_within_noise is 'Answered probes within the noise floor [count]';
comment on column fidelity_region.verdict is 'pass, fail, insufficient or not_evaluable [text]';
comment on column fidelity_region.failure_class is 'Why the verdict is fail, null otherwise [text]';
