// AskedEnvironment: the client's environment in a CookAsk: in memory its values, on the disk only
// salted digests of the values.
#pragma once

#include <map>
#include <string>

#include "director/host/environment_difference.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// Returns the variables whose values for the client differ from `ours`.
DifferingVariables DifferingOf(const std::map<std::string, std::string>& ours,
                               const v1::CookAsk& ask);

// Replaces the values in `ask` by digests, with a new salt.
void SealEnvironment(v1::CookAsk& ask);

}  // namespace galley::director
