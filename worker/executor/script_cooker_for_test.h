// ScriptCooker: a cooker whose source says what it does, one word and its arguments a line. Lines
// before `--` are its load.
//
//   read PATH | exists PATH | list PATH | name | env NAME | platform PARAMETER | cooked PACKAGE
//   SUFFIX
//                                appends what was seen to the text
//   out SUFFIX                   gives the text so far as an output ("." for the empty suffix)
//   reference PATH | generate NAME | warn TEXT | log TEXT | verdict TEXT | throw TEXT | fail |
//   exhaust | outgrow TEXT | errno NUMBER
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateScriptCooker();

}  // namespace galley::worker
