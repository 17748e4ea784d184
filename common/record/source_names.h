// NameSources: puts the names of files into a verdict. Results do not tell where a project lies, so
// a cooker that reports lines calls the package's own source kSourceName, and other files by their
// paths as it asked for them. Whoever shows the verdict replaces these names by real paths.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace galley::record {

inline constexpr std::string_view kSourceName = "source";

// Replaces names of files in `text` where compilers write a place, "NAME:<line>:": after "ERROR: "
// or "WARNING: ", or at the beginning of a line. `name_of` returns nullopt: the name stays.
std::string NameSources(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of);

}  // namespace galley::record
