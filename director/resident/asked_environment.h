// AskedEnvironment: a client's environment in its ask: values while the cook runs, and only salted
// digests of the values where the ask is kept on the disk.
#pragma once

#include <map>
#include <string>

#include "director/host/environment_difference.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// Returns the client's variables that differ from `ours`.
DifferingVariables DifferingOf(const std::map<std::string, std::string>& ours,
                               const v1::CookAsk& ask);

// Replaces the values by digests, with a new salt.
void SealEnvironment(v1::CookAsk& ask);

}  // namespace galley::director
