// The headers that most sources include, compiled once for all targets (GalleyPrefix.cmake).
// Sources name what they use all the same. Nothing is here that the core must not have
// (scripts/check), such as <thread> and <filesystem>.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "fmt/format.h"
