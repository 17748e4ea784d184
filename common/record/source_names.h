// The files that a verdict names. No place is in a result, so a cooker that reports lines calls the
// package's own source kSourceName, and other files by their paths as it asked for them; whoever
// shows the verdict knows the places and puts them in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace galley::record {

inline constexpr std::string_view kSourceName = "source";

// `text` with the names of files exchanged where a place begins as compilers write it: after
// "ERROR: " or "WARNING: ", or at the beginning of a line, "NAME:<line>:". `name_of` answers
// nullopt for what is to stay as it is.
std::string NameSources(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of);

}  // namespace galley::record
