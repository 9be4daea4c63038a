"""The numbers printed in the paper.

Each entry is mean/standard deviation over five splits with half of the training degrees missing.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_TABLE_2 = """\
dataset       n    k   C
Gene      17892   36  68
Movie      7755 1869   5
Scene      2000  294   9
SBU3DFE    2500  243   6
SJAFFE      213  243   6
Emotion6   1980 1000   7
Fbp5500    5500  512   5
Flickr    11150  200   8
RAF_ML     4908  200   6
SCUTFBP    1500  300   5
"""

_TABLE_4 = """\
dataset        WInLDL          LDM      EDL-LRL      InLDL-p      InLDL-a     BFGS-LDL      IIS-LDL
Gene      .8356/.0044  .8355/.0038  .8350/.0040  .8352/.0043  .8353/.0043  .8331/.0044  .8338/.0044
Movie     .9351/.0013  .9329/.0017  .8517/.0125  .8824/.0019  .8886/.0017  .8475/.0016  .8536/.0056
Scene     .7418/.0085  .7291/.0040  .6577/.0062  .6955/.0052  .6956/.0069  .6320/.0065  .6613/.0064
SBU3DFE   .9417/.0021  .9224/.0018  .9191/.0022  .9329/.0035  .9335/.0036  .9170/.0020  .9189/.0020
SJAFFE    .9517/.0043  .9341/.0018  .9343/.0019  .9344/.0020  .9037/.0102  .9340/.0019  .9309/.0040
Emotion6  .7961/.0045  .7094/.0087  .4232/.0184  .6119/.0098  .6090/.0085  .4103/.0111  .5029/.0121
Fbp5500   .9445/.0013  .9469/.0015  .7402/.0433  .9482/.0019  .9485/.0018  .7850/.0047  .8869/.0028
Flickr    .8315/.0029  .8097/.0020  .7486/.0114  .8304/.0024  .8307/.0024  .7537/.0089  .7431/.0034
RAF_ML    .8831/.0016  .8720/.0036  .9153/.0048  .8733/.0021  .8828/.0013  .7807/.0055  .6867/.0061
SCUTFBP   .8138/.0054  .6575/.0085  .6435/.0060  .5663/.0104  .5909/.0087  .6447/.0078  .6531/.0053
"""

_TABLE_5 = """\
dataset        WInLDL          LDM      EDL-LRL      InLDL-p      InLDL-a     BFGS-LDL      IIS-LDL
Gene     2.1029/.0289 2.1034/.0250 2.1095/.0264 2.1091/.0284 2.1081/.0284 2.1275/.0296 2.1203/.0295
Movie     .5226/.0045  .5259/.0063  .7244/.0194  .7671/.0114  .7540/.0121  .7675/.0039  .8013/.0240
Scene    2.4634/.0125 2.4553/.0098 2.4968/.0095 2.5091/.0113 2.5137/.0099 2.5146/.0107 2.4865/.0109
SBU3DFE   .3787/.0082  .4082/.0057  .4169/.0062  .4373/.0130  .4349/.0137  .4164/.0074  .4182/.0058
SJAFFE    .4096/.0187  .4160/.0094  .4157/.0107  .4167/.0105  .6375/.0247  .4186/.0123  .4269/.0219
Emotion6 1.6148/.0163 1.7566/.0163 2.3937/.0143 2.0360/.0092 2.0674/.0097 2.0601/.0164 1.9548/.0199
Fbp5500  1.2659/.0770 1.2924/.0078 1.7090/.1117 1.3352/.0086 1.3405/.0085 1.4411/.0071 1.3404/.0060
Flickr   2.1574/.0051 2.1857/.0058 2.1721/.0067 2.2100/.0054 2.2096/.0055 2.1806/.0041 2.1706/.0063
RAF_ML   1.4169/.0147 1.4525/.0140 1.4468/.0129 1.5252/.0111 1.5255/.0106 1.5170/.0137 1.5802/.0109
SCUTFBP  1.4153/.0191 1.5069/.0170 1.5155/.0143 1.6387/.0238 1.6365/.0153 1.5093/.0156 1.5071/.0141
"""

_TABLE_6 = """\
dataset        WInLDL      InLDL-U      InLDL-I     InLDL-II   InLDL-Rand
Gene      .8356/.0044  .8350/.0044  .7894/.0055  .8351/.0044  .8349/.0044
Movie     .9351/.0013  .9349/.0014  .9110/.0078  .9196/.0008  .9161/.0010
Scene     .7418/.0085  .7343/.0059  .5548/.0113  .7136/.0065  .7065/.0078
SBU3DFE   .9417/.0021  .9426/.0017  .9327/.0024  .9364/.0017  .9303/.0022
SJAFFE    .9517/.0043  .9555/.0043  .9459/.0065  .9160/.0046  .9086/.0083
Emotion6  .7961/.0045  .7929/.0048  .7305/.0080  .7786/.0022  .7619/.0037
Fbp5500   .9445/.0013  .9436/.0014  .9396/.0008  .9192/.0018  .8977/.0026
Flickr    .8315/.0029  .8321/.0028  .8107/.0037  .8134/.0027  .7880/.0030
RAF_ML    .8831/.0016  .8798/.0020  .8661/.0038  .8682/.0025  .8460/.0017
SCUTFBP   .8138/.0054  .8137/.0039  .8009/.0087  .7952/.0105  .7791/.0108
"""

RUN_TIME = 10.95
"""Seconds that WInLDL took for all ten datasets on the authors' machine (figure 4)."""


def shapes() -> DataFrame:
    """Return the rows n, features k and labels C of each dataset (table 2)."""
    return _read(_TABLE_2).astype(int)


def results(table: int) -> tuple[DataFrame, DataFrame]:
    """Return means and deviations of table 4 (cosine), 5 (Clark) or 6 (weightings, cosine)."""
    text = {4: _TABLE_4, 5: _TABLE_5, 6: _TABLE_6}[table]
    entries = _read(text)
    mean = entries.apply(lambda column: column.str.partition("/")[0].astype(float))
    std = entries.apply(lambda column: column.str.partition("/")[2].astype(float))
    return mean, std


def _read(text: str) -> DataFrame:
    import pandas as pd

    return pd.read_csv(io.StringIO(text), sep=r"\s+", index_col="dataset")
