// StatusText: what `galley status` and `galley top` show of a resident director.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "galley/v1/director.pb.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

std::string AgeText(absl::Duration age);                     // "3 h 12 min"
std::string LeftText(const v1::CookProgress& progress);      // "3 h 12 min"; empty: unknown
std::string CutLine(std::string_view line, size_t columns);  // never cuts within a character

// Lines for people, without a newline.
std::string HeadLine(const v1::StatusAnswer& status, absl::Time now);
std::string CookHeading(const v1::StatusAnswer& status);
std::string CookRow(const v1::StatusAnswer::Cook& cook, absl::Time now);
std::string QueueLine(const v1::StatusAnswer& status);
std::string WorkerHeading(const v1::StatusAnswer& status);
std::string WorkerRow(const v1::StatusAnswer::Worker& worker);
std::string StoreLine(const v1::StatusAnswer& status);
// "sources kept: 12,345 of 20,000 files (1.2 of 3.4 GiB)". REQUIRES: they are kept.
std::string KeptSourcesLine(const v1::StatusAnswer& status);
// Returns lines about the last cooks; no line if there were none.
std::vector<std::string> LastCookLines(const v1::StatusAnswer& status, absl::Time now);
// Returns "cook 7 ended 3 min ago: exit 1, 4 cooked, 30 cached, 1 failed".
std::string EndText(const v1::EndedCook& cook, absl::Time now);

// Returns one screen. `columns`: the longest line.
std::string StatusText(const v1::StatusAnswer& status, absl::Time now, size_t columns);
nlohmann::json StatusJson(const v1::StatusAnswer& status);

}  // namespace galley::cli
