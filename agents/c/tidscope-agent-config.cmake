# find_package(tidscope-agent) and target_link_libraries(PROGRAM tidscope::agent)
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
get_filename_component(_tidscope_agent_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tidscope::agent)
  add_library(tidscope::agent INTERFACE IMPORTED)
  set_target_properties(tidscope::agent PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tidscope_agent_prefix}/include"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
