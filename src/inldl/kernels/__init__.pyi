"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.kernels.boosting import add_boosted as add_boosted
from inldl.kernels.boosting import boost_softmax as boost_softmax
from inldl.kernels.compile import lane_count as lane_count
from inldl.kernels.flows import bridges as bridges
from inldl.kernels.flows import room_around as room_around
from inldl.kernels.flows import round_flow as round_flow
from inldl.kernels.flows import settle_flow as settle_flow
from inldl.kernels.loops import covariance as covariance
from inldl.kernels.loops import l1_distances as l1_distances
from inldl.kernels.loops import masked_softmax_rows as masked_softmax_rows
from inldl.kernels.loops import narrow_fitted as narrow_fitted
from inldl.kernels.loops import narrow_moments as narrow_moments
from inldl.kernels.loops import predict_paths as predict_paths
from inldl.kernels.loops import project_between as project_between
from inldl.kernels.simplex import project_columns as project_columns
from inldl.kernels.simplex import winldl_step as winldl_step
from inldl.kernels.trees import ExtraTrees as ExtraTrees
from inldl.kernels.trees import forest_mean as forest_mean
from inldl.kernels.trees import grow_forest as grow_forest
