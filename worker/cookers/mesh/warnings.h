// Warnings of the mesh cooker: equal warnings about many places of a file become one with a number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::worker::mesh {

// Groups warnings. A warning is "<pointer>: <text>", and the text may begin with a count ("3
// normals have no length"). Warnings of equal text become one, at the place of the first: "<first
// pointer> and 70 other places: <text>", with the sum of their counts. A single warning stays
// unchanged.
std::vector<std::string> Grouped(const std::vector<std::string>& warnings);

// The text of a warning about a repair; its kind goes before the file's.
std::string RepairWarning(std::string_view text);

}  // namespace galley::worker::mesh
