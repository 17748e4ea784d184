# What every target of ours is compiled with. Target properties only: galley_compile_options is linked privately by the helpers
# in GalleyTargets.cmake, so that generated code and packaged headers stay out of it.

find_program(GALLEY_CCACHE ccache)
if(GALLEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these ccache keeps nothing that reads a precompiled header. No source asks for its time.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${GALLEY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${GALLEY_CCACHE})
endif()

add_library(galley_compile_options INTERFACE)
target_compile_options(galley_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
  -Wno-missing-field-initializers  # designated initialisers leave the rest to their defaults on purpose
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>  # false positives on std::variant inside StatusOr from -O2 on (GCC 12)
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Werror=thread-safety>
  $<$<BOOL:${GALLEY_UNITY}>:-Wno-subobject-linkage>  # what is local to a source is in an included file there
  # False positives in <string> (GCC bug 105329), which g++ shows though they are in a system header, once that is precompiled.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=invalid-pch>  # the headers are read as text then
  -pthread  # gRPC brings it to some targets; a precompiled header wants it in all or in none
  -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffp-contract=off)
target_include_directories(galley_compile_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/proto)

# g++ collects its garbage when it has 128 MB; that is 6 % of the time of a group of sources (-ftime-report), and without it a compiler needs a quarter more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1500000)
endif()

# Sanitizers instrument generated code too, so they are directory-wide.
if(GALLEY_SANITIZE)
  add_compile_options(-fsanitize=${GALLEY_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GALLEY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND GALLEY_SANITIZE MATCHES "undefined")
    # These four checks are a third of the time of g++. Of what is run, the fuzzers of the fuzz preset alone have them.
    add_compile_options(-fno-sanitize=null,object-size,alignment,vptr)
  endif()
endif()
if(GALLEY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
find_program(GALLEY_LLD ld.lld)
if(GALLEY_LLD)
  add_link_options(-fuse-ld=lld)
endif()
