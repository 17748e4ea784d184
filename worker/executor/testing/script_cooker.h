// ScriptCooker: a cooker whose source is a script: each line is a verb and its arguments. Lines
// before `--` are its load.
//
//   read PATH | exists PATH | list PATH | glob ROOT PATTERN | name | platform PARAMETER |
//   cooked PACKAGE SUFFIX | tool PATH   appends the answer to the text
//   append HOST_PATH TEXT               writes to a file without the context, like a program
//   unchanged                           asks CheckUnchanged
//   out SUFFIX                          gives the text so far as an output ("." for "")
//   reference PATH | generate NAME | warn TEXT | log TEXT | verdict TEXT | throw TEXT | fail |
//   refuse TEXT | exhaust | outgrow TEXT | errno NUMBER
//
// The description declares the output ".t", and further ones below ".d/".
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

// `may_generate`: the description declares generated packages, too.
std::unique_ptr<Cooker> CreateScriptCooker(bool may_generate = true);

}  // namespace galley::worker
