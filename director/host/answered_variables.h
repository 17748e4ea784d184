// AnsweredVariables: the variables of the director's environment that cooks may read. If [farm] env
// does not list a name, env(name) is unset on every machine: no result depends on an unlisted
// variable, and workers learn no other values.
//
// Threads: any.
#pragma once

#include <map>
#include <string>

#include "common/project/project.h"
#include "director/shell/observed_values.h"

namespace galley::director {

std::map<std::string, std::string> AnsweredVariables(
    const project::Project& project, const std::map<std::string, std::string>& environment);

// Returns a text for people about observed variables that are set in `environment` but read as
// unset; empty: there are none.
std::string UnansweredText(const project::Project& project, const ObservedValues& observed,
                           const std::map<std::string, std::string>& environment);

}  // namespace galley::director
