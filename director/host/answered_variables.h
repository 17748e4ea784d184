// AnsweredVariables: the variables of the director's environment that cooks may ask for. env(name)
// reads as unset on every machine if [farm] env does not list the name. So results do not depend on
// variables that nobody knows of, and no worker learns what is none of its business.
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

// Returns the text for people about variables that are set in `environment` but read as unset;
// empty: there are none.
std::string UnansweredText(const project::Project& project, const ObservedValues& observed,
                           const std::map<std::string, std::string>& environment);

}  // namespace galley::director
