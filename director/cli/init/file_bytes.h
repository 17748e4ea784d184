// The facts that the first bytes of a file tell, whatever its name says. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace galley::init {

// As many bytes as these functions want to see.
inline constexpr size_t kHeadBytes = 64 << 10;

// The kind of a program or of a compiler's output: "an executable (ELF)"; "" for all other files.
std::string_view ProgramKind(std::string_view head);

// Why the texture cooker cannot read a file that begins so, as "a JPEG under the name .png"; ""
// when it can, as far as the head tells. `extension`: png, jpg, jpeg, tga, bmp or hdr.
std::string WhyNoTexture(std::string_view extension, std::string_view head);

// The same for the audio cooker: wav, flac, ogg, oga or opus.
std::string WhyNoSound(std::string_view extension, std::string_view head);

// The size of an image, as its header says.
struct ImageSize {
  uint64_t width = 0, height = 0;
  bool has_alpha = false;  // it may have
};
std::optional<ImageSize> ReadImageSize(std::string_view extension, std::string_view head);

// True when the image's header says that it has one channel only.
bool IsGreyImage(std::string_view extension, std::string_view head);

// True when the first bytes are those of an image that cannot be a normal map: grey, or a palette.
bool CannotBeNormalMap(std::string_view extension, std::string_view head);

}  // namespace galley::init
